package dev.writ.sandbox;

import java.util.Map;

/**
 * Makes a {@link RemoteEngine} from the environment. Modules offer theirs as a service ({@link
 * java.util.ServiceLoader}), so that programs without them stay small.
 */
public interface EngineProvider {

  /** The name of its engine, as policies, receipts and {@code WRIT_SANDBOX_ENGINE} have it. */
  String name();

  /**
   * How its engine is opened; settings that are malformed are refused then.
   *
   * @param environment the process's variables
   */
  RemoteEngine.Opener configure(Map<String, String> environment);
}
