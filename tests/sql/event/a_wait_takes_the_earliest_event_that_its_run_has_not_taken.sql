-- SPDX-License-Identifier: Apache-2.0
select plan(6);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select count(*) as n from generate_series(1, 3) g, lateral (select pawl.test_clock_advance('1 ms') + g * interval '0') c,
    lateral pawl.emit('paid', json_build_object('n', g)) e \gset
select is((select value #>> '{output,n}' from pawl.wait_event(:s, :'r', :f, 'a', 'paid')), '1', 'the first');
select is((select value #>> '{output,n}' from pawl.wait_event(:s, :'r', :f, 'b', 'paid')), '2', 'then the second');
select is((select value #>> '{output,n}' from pawl.wait_event(:s, :'r', :f, 'a', 'paid')), '1', 'the first wait asked again has its own');
select is((select value #>> '{output,n}' from pawl.wait_event(:s, :'r', :f, 'c', 'paid')), '3', 'then the third');
select is((select answer from pawl.wait_event(:s, :'r', :f, 'd', 'paid')), 'ok', 'then it waits');
select is(t.state(:'r'), 'PAUSED event', 'because every event was taken');
select * from finish();
