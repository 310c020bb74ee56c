-- SPDX-License-Identifier: Apache-2.0
select plan(1);

select pawl.create_workflow('limited.flow', run_timeout => '1 min') \g /dev/null
select t.run('limited.flow') as r \gset
select t.later('1 min 1 s') \g /dev/null
select is((select status || (error ->> 'code') from pawl.result(:'r')), 'ERRORtimeout', 'it has ended');

select * from finish();
