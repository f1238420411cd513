package dev.writ.tools.mcp.protocol;

import dev.writ.canonicalize.json.JsonValue;
import java.util.Optional;

/**
 * Answers what a server asks for in a result that is {@code input_required} (2026-07-28). Called by
 * the thread of the call, which waits.
 */
@FunctionalInterface
public interface InputAnswers {
  /** Answers nothing: such a result is refused. */
  InputAnswers NONE = (method, params) -> Optional.empty();

  /**
   * @param method such as {@code elicitation/create}
   * @return the result; empty for a method that is not offered
   */
  Optional<JsonValue.Obj> answer(String method, JsonValue.Obj params) throws InterruptedException;
}
