-- SPDX-License-Identifier: Apache-2.0
-- Removes pawl from this database with everything it knows: runs, their history, events and settings. There is no way
-- back but a backup. Run it as the owner of schemas pawl and pawl_data. Objects of yours that use pawl's (a view, a default) go too,
-- because of `cascade`; PostgreSQL lists them as notices. Roles that were granted rights are yours and stay.

drop schema if exists pawl, pawl_data cascade;
