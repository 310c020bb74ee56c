-- SPDX-License-Identifier: Apache-2.0
select plan(3);
select t.session(lease => '1 day') as s \gset
select pawl.create_workflow('test.flow') \gset
select run_id as r from pawl.trigger('test.flow') \gset
do $$ begin for i in 1..12 loop perform t.later('1 day', (select max(session_id) from pawl_data.worker)); end loop; end $$;
select fence as f from t.one(:s) \gset
select is((select string_agg(answer, ' ') from pawl.commit(:s, array[:'r', :'r']::uuid[], array[:f, :f], array['step', 'complete'], array['one#1', null], array['1', '2'])), 'ok ok', 'claimed after twelve days, it ends at once');
do $$ begin for i in 1..13 loop perform t.later('1 day'); end loop; end $$;
select is(t.state(:'r'), 'SUCCESS', 'thirteen days after its end it is still there');
select is((select json_array_length(steps) from pawl.get_run(:'r')), 1, 'with its step');
select * from finish();
