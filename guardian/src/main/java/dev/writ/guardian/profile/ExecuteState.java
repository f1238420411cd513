package dev.writ.guardian.profile;

/** The state that stage 7 of seed 000 reads, within one tenant. It only reads. */
public interface ExecuteState {

  /** The state of an {@code execution_request_id}. */
  enum Seen {
    NEW,
    /** The same body came before and waits for approval or execution: it may continue. */
    WAITING,
    /** The same body is running. */
    RUNNING,
    /** The same body was done. */
    DONE,
    /** It came with another body. */
    OTHER_BODY
  }

  Seen seen(String executionRequestId);

  /** Whether this gateway made an execution that is known by this id. */
  boolean executed(String id);

  /** Nothing was ever asked. */
  static ExecuteState empty() {
    return new ExecuteState() {
      @Override
      public Seen seen(String executionRequestId) {
        return Seen.NEW;
      }

      @Override
      public boolean executed(String id) {
        return false;
      }
    };
  }
}
