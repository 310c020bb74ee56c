-- SPDX-License-Identifier: Apache-2.0
select plan(3);

select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
create temp table odd as select * from (values
    ('retry', '{"policy": {"max_attempts": 99999999999}}'), ('retry', '{"policy": {"factor": "x"}}'), ('retry', '{"permanent": "perhaps"}'),
    ('retry', '{"retry_after_ms": "soon"}'), ('sleep', '{"ms": "long"}'), ('fail', '{"final": 7}'), ('event', '{}'), ('event', '{"topic": ""}'),
    ('child', '{}'), ('child', '{"workflow": "no.such"}'), ('child', '{"workflow": "test.flow", "priority": -1}'),
    ('child', '{"workflow": "test.flow", "priority": 99999}'), ('child', '{"workflow": "test.flow", "detached": "x"}'),
    ('child', '{"workflow": "test.flow", "delay_ms": 1e15}')) v (kind, option);
select is((select string_agg(odd.kind || odd.option || a, ' ') from odd, t.answers(:s, json_build_array(json_build_object('run', :'r', 'fence', :f, 'kind', odd.kind,
    'name', 'x#1', 'payload', '{}', 'option', odd.option::json)), true) a where a <> 'refused'), null, 'each is refused');
select is(t.state(:'r'), 'RUNNING', 'the run goes on');
select is(t.audit(:'r'), '', 'and nothing was noted');

select * from finish();
