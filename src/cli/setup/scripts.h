/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SQL scripts that are part of the program. The build makes them from pawl.sql, sql/uninstall.sql, bench/bare.sql and the files of
 * src/cli/bench.
 */
#ifndef PW_CLI_SETUP_SCRIPTS_H
#define PW_CLI_SETUP_SCRIPTS_H

extern const char script_install[];
extern const char script_uninstall[];
extern const char script_bench_bare_runs[];
extern const char script_bench_busy[];
extern const char script_bench_commit[];
extern const char script_bench_create[];
extern const char script_bench_drop[];
extern const char script_bench_engine_runs[];
extern const char script_bench_functions[];
extern const char script_bench_here[];
extern const char script_bench_mark[];
extern const char script_bench_mine[];
extern const char script_bench_reset[];
extern const char script_bench_tables[];
extern const char script_bench_trigger[];
extern const char script_bench_trip[];
extern const char script_bench_under_way[];

#endif
