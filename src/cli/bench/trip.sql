-- SPDX-License-Identifier: Apache-2.0
select 1;
