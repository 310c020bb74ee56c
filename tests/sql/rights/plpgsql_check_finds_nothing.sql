-- SPDX-License-Identifier: Apache-2.0
select * from no_plan();
select count(*) = 1 as checker from pg_extension where extname = 'plpgsql_check' \gset
\if :checker
select is((select string_agg(c.message, e'\n') from plpgsql_check_function(p.oid, fatal_errors => false, extra_warnings => true, performance_warnings => false, security_warnings => true) c (message)), null, p.oid::regprocedure::text)
from pg_proc p join pg_language l on l.oid = p.prolang
where p.pronamespace = 'pawl'::regnamespace and l.lanname = 'plpgsql' and p.prorettype <> 'trigger'::regtype order by p.proname;
\else
select skip('the server has no plpgsql_check');
\endif
select * from finish();
