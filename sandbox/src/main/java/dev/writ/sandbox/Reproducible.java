package dev.writ.sandbox;

import java.time.Instant;

/**
 * Makes a run repeatable: no address randomisation, a seeded hash, locale C.UTF-8, time zone UTC,
 * and, if the host has libfaketime, a fixed clock and seeded random numbers of libc.
 *
 * @param time the time of the clock, which does not advance
 * @param seed of libc's random numbers and of Python's hashes
 */
public record Reproducible(Instant time, long seed) {}
