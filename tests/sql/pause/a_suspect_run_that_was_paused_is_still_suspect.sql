-- SPDX-License-Identifier: Apache-2.0
select plan(4);
select t.session() as s \gset
select t.run() as r \gset
update pawl_data.task set crashes = 2, place = 's' where run_id = :'r';
select is((select answer from pawl.pause(array[:'r'::uuid])), 'ok', 'paused');
select is((select answer from pawl.resume(array[:'r'::uuid])), 'ok', 'resumed');
select is((select count(*) from pawl.claim(:s, 10)), 0::bigint, 'a busy worker does not get it');
select is((select suspect from t.one(:s, quiet => true)), true, 'a quiet one does');
select * from finish();
