package dev.writ.surfaces.text;

import dev.writ.executor.Answer;
import dev.writ.gateway.http.message.HttpAnswer;

/** Headers with the ids of the documents that the journal has of a call. */
public final class DocumentIds {
  private DocumentIds() {}

  /** An answer that states them. */
  public static HttpAnswer on(HttpAnswer plain, Answer answer) {
    HttpAnswer judged =
        plain
            .with("Writ-Request", answer.request().toString())
            .with("Writ-Decision", answer.decisionEnvelope().id().toString());
    return answer
        .served()
        .map(served -> judged.with("Writ-Receipt", served.id().toString()))
        .orElse(judged);
  }
}
