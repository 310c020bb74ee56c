-- SPDX-License-Identifier: Apache-2.0
select plan(11);
select 'rs_' || current_database() as caller \gset
create role :"caller" login;
select pawl.grant_role(:'caller', r) from unnest(array['producer', 'worker', 'operator', 'reader']) r \g /dev/null
set session authorization :"caller";
set standard_conforming_strings to off;
set escape_string_warning to off;
set backslash_quote to on;
set datestyle to 'German';
set intervalstyle to 'postgres_verbose';
set timezone to 'Asia/Kolkata';
set bytea_output to 'escape';
set extra_float_digits to -15;
set array_nulls to off;
set transform_null_equals to on;
set quote_all_identifiers to on;
set xmloption to document;
select is(pawl.create_workflow('set.flow'), 'created', 'a workflow');
select throws_ok($$select pawl.create_workflow('Bad Name')$$, 'PW003', null, 'names are checked as ever');
select throws_ok($$select pawl.create_workflow('setxflow..')$$, 'PW003', null, 'dots as well');
select session as s from pawl.register('w', '{set.*}') \gset
select run_id as r from pawl.trigger('set.flow', '1', key => 'k') \gset
select is((select run_id::text from pawl.trigger('set.flow', '1', key => 'k')), :'r', 'a key');
select throws_ok($$select * from pawl.trigger('set.flow', (repeat('[', 65) || repeat(']', 65))::json)$$, 'PW009', null, 'depth is checked');
select lives_ok($$select * from pawl.trigger('set.flow', to_json(repeat('[', 100)))$$, 'and brackets in a string do not count');
select fence as f from pawl.claim(:s, 1) where run_id = :'r' \gset
select is((select answer from pawl.fail(:s, :'r', :f, '{"message": "boom"}')), 'ok', 'a failure');
select is((select status from pawl.get_run(:'r')), 'PAUSED', 'waits for its retry');
select lives_ok('select pawl.housekeep()', 'housekeeping');
reset all;
reset session authorization;
select is(pawl.slot_of(:'r'), (get_byte(sha256('\x007365742e666c6f77006b'::bytea), 0) << 2) | (get_byte(sha256('\x007365742e666c6f77006b'::bytea), 1) >> 6), 'the slot is that of tenant, workflow and key');
select lives_ok('select pawl.housekeep()', 'and housekeeping of others');
drop owned by :"caller";
drop role :"caller";
select * from finish();
