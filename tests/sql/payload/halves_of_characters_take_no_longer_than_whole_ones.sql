-- SPDX-License-Identifier: Apache-2.0
-- A program that decodes bytes as they come writes each that is no UTF-8 as half a character, and an error may be full of them.
select plan(4);
set statement_timeout = '60s';
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is(length(pawl._readable('"' || repeat('\udc80', 170000) || '"')), 1020002, 'a megabyte of lower halves');
select is(length(pawl._readable('"' || repeat('\ud83d', 170000) || '"')), 1020002, 'of upper halves');
select is(pawl._readable('"' || repeat('\ud83d\ude00', 85000) || '"'), '"' || repeat('\ud83d\ude00', 85000) || '"', 'of whole characters, which stay');
select is((select answer from pawl.fail(:s, :'r', :f, ('"' || repeat('\udc80', 10900) || '"')::json)), 'ok', 'and a run fails with such an error');
select * from finish();
