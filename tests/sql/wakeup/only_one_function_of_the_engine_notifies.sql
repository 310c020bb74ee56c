-- SPDX-License-Identifier: Apache-2.0
-- What it checks before it notifies must hold for every call.
select plan(1);
select is((select string_agg(p.proname, ', ') from pg_proc p where p.pronamespace = 'pawl'::regnamespace and p.prosrc ~* 'pg_notify\s*\(|(^|\s)notify\s+[a-z_"]+\s*[,;]'), '_hint', 'pg_notify is called by _hint alone');
select * from finish();
