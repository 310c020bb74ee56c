-- SPDX-License-Identifier: Apache-2.0
-- The matrix of tests/sql/lib/tenants.sql: every public function, called with what belongs to one tenant by roles that are foreign to it.
select plan(8);
select pawl.create_workflow('victim.coded', max_attempts => 1) \g /dev/null
select t.flow('victim.steps', '[["one"]]') \g /dev/null
select * from t.foreign_roles() \g /dev/null
select is((select string_agg(format('%s: %s: %s, expected %s', kind, call, outcome, expected), e'\n') from t.foreign_matrix(array['ambiguous']) where call !~ '{'), null,
    'a role of several tenants is refused where there is nothing at all');
select pawl.delete_flow('victim.steps') \g /dev/null
select t.victim() \g /dev/null
select is(t.verbs_without_a_call(), null, 'every public function has a call in the matrix');
select is((select string_agg(distinct c.verb, ', ') from t.foreign_call c where not exists (select from pg_proc p where p.pronamespace = 'pawl'::regnamespace and p.proname = c.verb)), null,
    'and every call is one of a function');
select is((select count(*) from pawl.list_runs(only_tenant => 'victim')), 8::bigint, 'the owner sees the tenant''s runs');
select is((select string_agg(format('%s: %s: %s, expected %s', kind, call, outcome, expected), e'\n') from t.foreign_matrix(array['bound', 'member'])), null,
    'a role of another tenant finds nothing and changes nothing, as if there were nothing');
select is((select string_agg(format('%s: %s: %s, expected %s', kind, call, outcome, expected), e'\n') from t.foreign_matrix(array['ambiguous'])), null,
    'a role of several tenants is refused until it chooses one');
select is((select string_agg(format('%s: %s: %s, expected %s', kind, call, outcome, expected), e'\n') from t.foreign_matrix(array['revoked', 'admin', 'stranger'])), null,
    'a role without a grant may call nothing');
select is(t.foreign_privileges(), null, 'and none reads a table or calls a private function');
select t.drop_foreign_roles() \g /dev/null
select * from finish();
