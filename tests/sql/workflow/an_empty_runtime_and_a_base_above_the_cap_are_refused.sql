-- SPDX-License-Identifier: Apache-2.0
select plan(10);
select throws_ok($$select pawl.create_workflow('a.flow', runtime => '')$$, 'PW003', 'runtime must not be empty', 'a workflow for a runtime without a name');
select throws_ok($$select pawl.create_flow('a.flow', runtime => '')$$, 'PW003', null, 'a flow as well');
select throws_ok($$select pawl.create_workflow('a.flow', base => '1 h')$$, 'PW003', 'base (01:00:00) is more than cap (00:10:00)', 'a base above the cap is not cut');
select is(pawl.create_workflow('a.flow', base => '1 h', cap => '1 h'), 'created', 'as much is');
select throws_ok($$select pawl.alter_workflow('a.flow', '{"runtime": ""}')$$, 'PW003', null, 'nor can the runtime be made so');
select throws_ok($$select pawl.alter_workflow('a.flow', '{"cap": "1 min"}')$$, 'PW003', null, 'or the cap');
select pawl.create_flow('b.flow') \gset
select throws_ok($$select pawl.add_step('b.flow', 'a', '{}', '{"base": "1 h"}')$$, 'PW003', null, 'a step whose base is above the cap of its flow');
select is(pawl.add_step('b.flow', 'a', '{}', '{"base": "5 min"}'), 'created', 'below it');
select throws_ok($$select pawl.alter_workflow('b.flow', '{"cap": "1 min"}')$$, 'PW003', 'base (00:05:00) is more than cap (00:01:00)', 'then the cap of the flow stays above it');
select lives_ok($$select pawl.alter_workflow('b.flow', '{"cap": "5 min"}')$$, 'or as high');
select * from finish();
