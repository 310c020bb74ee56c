-- SPDX-License-Identifier: Apache-2.0
select plan(3);
select t.session() as s \gset
select pawl.create_flow('t.flow', run_timeout => '1 min') as c \gset
select pawl.add_step('t.flow', 'a') as c \gset
select run_id as r from pawl.trigger('t.flow', '5') \gset
select count(*) from pawl.claim(:s, 10) \gset
select t.later('61 s', :s);
select is((select status || ' ' || (error ->> 'code') from pawl.result(:'r')), 'ERROR timeout', 'the time is over');
select is((select count(*) from pawl_data.task), 0::bigint, 'no task is left');
select is(t.done(:s, :'r', 'a', '1'), 'lease_lost', 'what comes late is refused');
select * from finish();
