-- SPDX-License-Identifier: Apache-2.0
select plan(1);

select t.run() as r \gset
select pawl.test_clock_advance('60 days') \g /dev/null
begin isolation level serializable;
select is((select created from pawl.trigger('test.flow', id => pawl.make_id())), true, 'its partition is made');
commit;

select * from finish();
