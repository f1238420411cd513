package dev.writ.gateway.ops;

import dev.writ.canonicalize.ErrorCode;
import dev.writ.executor.stage.Stage;
import java.util.Optional;

/**
 * The time that a call spent in a stage.
 *
 * @param begin by the machine's monotonic clock, in nanoseconds
 * @param refused the code with which the stage refused
 */
public record Lap(Stage stage, long begin, long nanos, Optional<ErrorCode> refused) {}
