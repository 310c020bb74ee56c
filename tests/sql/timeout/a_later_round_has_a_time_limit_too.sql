-- SPDX-License-Identifier: Apache-2.0
select plan(4);

select pawl.create_workflow('limited.flow', run_timeout => '1 min') \g /dev/null
select t.run('limited.flow') as r \gset
select t.later('2 min') \g /dev/null
select is(t.state(:'r'), 'ERROR', 'the first round has timed out');
select is((select answer from pawl.retry(array[:'r'::uuid])), 'ok', 'the next one opens');
select t.later('59 s') \g /dev/null
select is(t.state(:'r'), 'QUEUED', 'it has a minute of its own');
select t.later('2 s') \g /dev/null
select is((select status || (error ->> 'code') from pawl.result(:'r')), 'ERRORtimeout', 'and not more');

select * from finish();
