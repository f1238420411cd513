package dev.writ.gateway.ops;

import dev.writ.gateway.http.Observer;
import dev.writ.gateway.http.message.TraceContext;
import java.util.List;
import java.util.Optional;

/** Tells those who count, log and trace calls of each call, with what it went through. */
public final class CallTelemetry implements Observer {
  private final Watch watch;
  private final Optional<Telemetry> telemetry;
  private final List<Observer> others;

  /**
   * @param telemetry gets the spans of a call, if there is a collector
   * @param others told of each call when it has ended
   */
  public CallTelemetry(Watch watch, Optional<Telemetry> telemetry, List<Observer> others) {
    this.watch = watch;
    this.telemetry = telemetry;
    this.others = List.copyOf(others);
  }

  @Override
  public void begun(TraceContext trace) {
    watch.callBegins(trace);
  }

  @Override
  public boolean isSampled(String traceId) {
    return telemetry.filter(t -> t.isSampled(traceId)).isPresent();
  }

  @Override
  public void finished(Finished call) {
    Watch.Seen seen = watch.callEnds(call);
    others.forEach(other -> other.finished(seen.call()));
    telemetry.ifPresent(t -> t.ended(seen.call(), seen.spans()));
  }
}
