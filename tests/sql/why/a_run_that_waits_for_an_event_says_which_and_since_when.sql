-- SPDX-License-Identifier: Apache-2.0
select plan(4);
set timezone to 'UTC';
select t.session() as s \gset
select to_char(pawl.now(), 'YYYY-MM-DD HH24:MI:SS') as at \gset
select run_id as r, fence as f from t.held(:s) \gset
select is((select answer from pawl.wait_event(:s, :'r', :f, 'w', 'photo.approved')), 'ok', 'waits');
select is(pawl.why(:'r'), format('Waiting for event photo.approved since %s. Emit it with pawl.emit().', :'at'), 'without key, match and timeout');
select run_id as r, fence as f from t.held(:s) \gset
select is((select answer from pawl.wait_event(:s, :'r', :f, 'w', 'photo.approved', 'album:3', '{"/id": 7, "/by": "ann"}', '2 days')), 'ok', 'waits');
select is(pawl.why(:'r'), format('Waiting for event photo.approved, key "album:3", with /id = 7 and /by = "ann" since %s; times out in 2 days. Emit it with pawl.emit().', :'at'), 'with all of them');
select * from finish();
