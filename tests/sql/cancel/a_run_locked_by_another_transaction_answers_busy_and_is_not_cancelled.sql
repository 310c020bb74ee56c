-- SPDX-License-Identifier: Apache-2.0
select plan(4);
select t.run() as r \gset
select t.run() as r2 \gset
select t.other_holds(format('select run_id::text from pawl_data.task where run_id = %L for update', :'r'));
select clock_timestamp() as from_time \gset
select results_eq(format('select answer from pawl.cancel(array[%L, %L]::uuid[])', :'r', :'r2'), array['busy', 'ok'], 'the other run of the call is cancelled');
select is(clock_timestamp() - :'from_time'::timestamptz < interval '60 s', true, 'after a bounded wait');
select t.other_done();
select is(t.state(:'r'), 'QUEUED', 'the locked run is as it was');
select is((select answer from pawl.cancel(array[:'r'::uuid])), 'ok', 'the call repeated is taken');
select * from finish();
