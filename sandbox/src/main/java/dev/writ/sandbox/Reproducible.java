package dev.writ.sandbox;

import java.time.Instant;

/**
 * Makes a run repeatable: no address randomisation, a seeded hash, locale C.UTF-8, time zone UTC,
 * and where libfaketime is on the host the clock and the random numbers of libc.
 *
 * @param time what the clock reads; it stands still
 * @param seed of libc's random numbers and of Python's hashes
 */
public record Reproducible(Instant time, long seed) {}
