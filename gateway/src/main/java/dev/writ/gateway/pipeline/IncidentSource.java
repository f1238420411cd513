package dev.writ.gateway.pipeline;

import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Request;
import java.util.Optional;

/** A surface that knows the kind of incident of an end whose receipt alone does not say it. */
@FunctionalInterface
public interface IncidentSource {
  /**
   * @param request whose effect came through this surface
   */
  Optional<IncidentKind> incidentOf(Receipt receipt, Request request);
}
