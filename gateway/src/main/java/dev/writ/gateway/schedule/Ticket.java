package dev.writ.gateway.schedule;

import java.time.Duration;

/**
 * What the scheduler is told of a call that was allowed and waits for its turn.
 *
 * @param resourceClass {@code small}, {@code medium} or {@code large} (seed 004)
 * @param patience how long it may wait; the policy's queue TTL where that is shorter
 */
public record Ticket(
    String tenant, String subject, String tool, String resourceClass, Duration patience) {}
