-- SPDX-License-Identifier: Apache-2.0
select * from no_plan();
select t.session() as s \gset
create temporary table ended as
select k as kind, h.run_id, c.answer as cancelled, t.answer(:s, h.run_id, h.fence, k, case when k = 'drift' then 'x#1' end) as answer
from unnest(array['complete', 'fail', 'suspend', 'release', 'drift']) k, lateral t.held(:s, input => to_json(k)) h, lateral pawl.cancel(array[h.run_id]) c;
select is(cancelled || ' ' || answer || ' ' || t.state(run_id), 'ok cancelled CANCELLED', kind) from ended;
select * from finish();
