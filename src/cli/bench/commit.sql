-- SPDX-License-Identifier: Apache-2.0
insert into bare.active (run_id, workflow_id, input) values (bench.make_id(), 0, bench.pad()::jsonb);
