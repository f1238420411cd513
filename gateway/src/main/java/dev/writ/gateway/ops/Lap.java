package dev.writ.gateway.ops;

import dev.writ.canonicalize.ErrorCode;
import dev.writ.executor.stage.Stage;
import java.util.Optional;

/**
 * How long a call was in a stage.
 *
 * @param begin by the machine's monotonic clock, in nanoseconds
 * @param refused what the stage refused with
 */
public record Lap(Stage stage, long begin, long nanos, Optional<ErrorCode> refused) {}
