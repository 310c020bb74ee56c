-- SPDX-License-Identifier: Apache-2.0
select plan(6);
select t.session() as s \gset
select count(t.limited('lane.' || i, 1)) from generate_series(1, 30) i \gset
select count(pawl.create_workflow('plain.' || i)) from generate_series(1, 30) i \gset
select count(*) from pawl.trigger('lane.17', limit_key => 'a') \gset
select is((select workflow from pawl.claim(:s, 1)), 'lane.17', 'one of sixty queues has a task in a lane');
select count(*) from pawl.trigger('plain.9') \gset
select is((select workflow from pawl.claim(:s, 1)), 'plain.9', 'one is plain');
select count(*) from generate_series(1, 30) i, lateral pawl.trigger('lane.' || i, limit_key => 'b') \gset
select count(*) from generate_series(1, 30) i, lateral pawl.trigger('plain.' || i) \gset
select is((select count(*) from pawl.claim(:s, 100)), 60::bigint, 'one claim gets the first of each');
select count(*) from generate_series(1, 300) i, lateral pawl.trigger('plain.1', to_json(i)) \gset
select count(*) from generate_series(1, 300) i, lateral pawl.trigger('lane.1', limit_key => 'c' || i) \gset
select ok((select count(distinct workflow) = 2 from generate_series(1, 40) i, lateral pawl.claim(:s, least(i, 1))), 'claims of one task take turns between a plain queue and lanes');
select is((select count(*) from pawl.claim(:s, 1000)), 560::bigint, 'a large claim gets all the others');
select is(t.lane_faults(), 'none', 'lanes fit');
select * from finish();
