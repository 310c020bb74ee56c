/* SPDX-License-Identifier: Apache-2.0 */
/* Reads numbers, durations, sizes and switches from text that comes from outside. The whole text must be the value,
 * without blanks; it is the same in every locale. Each function writes *out and returns true, or returns false and
 * leaves *out unchanged. text may be NULL, which is not a value. */
#ifndef PW_BASE_TEXT_H
#define PW_BASE_TEXT_H

#include <stdbool.h>
#include <stdint.h>

/* Decimal digits, with a minus before them or not; min and max are allowed values. */
bool pw_parse_i64(const char *text, int64_t min, int64_t max, int64_t *out)
    __attribute__((warn_unused_result));

/* "1", "-0.25", "1e-3": digits, a point and digits, an exponent. Neither infinite nor hexadecimal. min and max are
 * allowed values. */
bool pw_parse_double(const char *text, double min, double max, double *out)
    __attribute__((warn_unused_result));

/* A whole number and a unit, "10ms", "5s", "2m", "1h", "3d", in milliseconds; "0" needs no unit. */
bool pw_parse_duration_ms(const char *text, int64_t min_ms, int64_t max_ms, int64_t *out)
    __attribute__((warn_unused_result));

/* Bytes, or a whole number followed by kB, MB or GB: "4096", "64kB". */
bool pw_parse_size(const char *text, int64_t min, int64_t max, int64_t *out)
    __attribute__((warn_unused_result));

/* "on" or "true", "off" or "false", in lower case. */
bool pw_parse_bool(const char *text, bool *out) __attribute__((warn_unused_result));

#endif
