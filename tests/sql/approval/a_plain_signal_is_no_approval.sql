-- SPDX-License-Identifier: Apache-2.0
-- Producers may signal; only operators may approve.
select plan(6);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is(pawl.signal(:'r', 'publish', '{"approved": true, "by": "boss"}'), 'stored', 'a signal of that name comes first');
select is(t.answers(:s, json_build_array(
    json_build_object('run', :'r', 'fence', :f, 'kind', 'approval', 'name', 'publish#1'),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'suspend'))), 'ok ok', 'the run asks for an approval');
select is(t.state(:'r'), 'PAUSED signal', 'and waits, although there is a signal');
select is(pawl.signal(:'r', 'publish', '{"approved": true, "by": "boss"}'), 'stored', 'another signal');
select is(t.state(:'r'), 'PAUSED signal', 'it still waits');
select is(pawl.approve(:'r', 'publish', 'ann'), 'taken', 'an approval is taken');
select * from finish();
