-- SPDX-License-Identifier: Apache-2.0
select plan(3);

select t.session() as s \gset
select pawl.rest(:s) \g /dev/null
select is((select state from pawl.list_workers()), 'idle', 'idle');
select t.run() \g /dev/null
select isnt_empty(format('select * from pawl.claim(%s)', :s), 'it claims');
select is((select state from pawl.list_workers()), 'live', 'and is not idle any more');

select * from finish();
