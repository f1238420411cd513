package dev.writ.surfaces.execute;

import dev.writ.executor.driver.SandboxObserver;
import dev.writ.gateway.http.message.CallState;
import java.util.ArrayList;
import java.util.List;

/** The states that one request has reached, in order. For the thread of its call alone. */
final class StateTrail implements SandboxObserver {
  private final List<CallState> states = new ArrayList<>();
  private RequestState last;

  /** Records a state, once where it is told several times in a row. */
  void reached(RequestState state) {
    if (state != last) {
      last = state;
      states.add(CallState.now(state.name()));
    }
  }

  List<CallState> states() {
    return List.copyOf(states);
  }

  @Override
  public void created() {
    reached(RequestState.SANDBOX_CREATED);
  }

  @Override
  public void executing() {
    reached(RequestState.EXECUTION);
  }

  @Override
  public void destroyed() {
    reached(RequestState.SANDBOX_DESTROYED);
  }
}
