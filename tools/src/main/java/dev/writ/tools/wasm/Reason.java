package dev.writ.tools.wasm;

/** The reasons in outcomes of these drivers; spec/tool-wasm.md explains each. */
public final class Reason {
  public static final String OK = "ok";
  public static final String EXIT_CODE = "exit-code";
  public static final String TRAP = "trap";
  public static final String STACK_OVERFLOW = "stack-overflow";
  public static final String OUT_OF_MEMORY = "out-of-memory";
  public static final String OUTPUT_LIMIT = "output-limit";
  public static final String WALL_TIME = "wall-time";
  public static final String CPU_TIME = "cpu-time";
  public static final String FUEL = "fuel";
  public static final String CANCELLED = "cancelled";
  public static final String HOST_MEMORY = "host-memory";
  public static final String ENGINE_FAILURE = "engine-failure";
  public static final String BAD_PARAMS = "bad-params";
  public static final String BAD_INPUT = "bad-input";
  public static final String INPUT_TOO_LARGE = "input-too-large";
  public static final String SCRIPT_ERROR = "script-error";
  public static final String BAD_RESULT = "bad-result";
  public static final String SQL_ERROR = "sql-error";
  public static final String NOT_READ_ONLY = "not-read-only";

  private Reason() {}
}
