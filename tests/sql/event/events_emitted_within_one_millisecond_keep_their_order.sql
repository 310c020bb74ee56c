-- SPDX-License-Identifier: Apache-2.0
select plan(1);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select count(*) as n from generate_series(1, 40) g, lateral (select pawl.test_clock_advance('2 microseconds') + g * interval '0') c,
    lateral pawl.emit('paid', json_build_object('n', g)) e \gset
create temporary table got as
select g, (select (value #>> '{output,n}')::int from pawl.wait_event(:s, :'r', :f, 'w' || g, 'paid')) as n from generate_series(1, 40) g;
select is((select count(*) from got where n = g), 40::bigint, 'each wait got the event that was next in time');
select * from finish();
