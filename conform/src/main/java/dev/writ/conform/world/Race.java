package dev.writ.conform.world;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.conform.ConformError;
import dev.writ.executor.Answer;
import dev.writ.executor.Kernel;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Requests that are submitted at the same moment, each by a thread of its own. */
final class Race {
  private Race() {}

  /** One thread's outcome, and the receipt that it got. */
  private record Ended(String outcome, String receipt) {}

  static JsonValue.Obj run(Kernel kernel, List<Envelope> requests) {
    CountDownLatch go = new CountDownLatch(1);
    TreeMap<String, Long> outcomes = new TreeMap<>();
    TreeSet<String> receipts = new TreeSet<>();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<Ended>> all = new ArrayList<>();
      for (Envelope request : requests) {
        byte[] bytes = request.toBytes();
        all.add(
            threads.submit(() -> {
              go.await();
              return submit(kernel, bytes);
            }));
      }
      go.countDown();
      for (Future<Ended> each : all) {
        Ended ended = each.get();
        outcomes.merge(ended.outcome(), 1L, Long::sum);
        if (!ended.receipt().isEmpty()) {
          receipts.add(ended.receipt());
        }
      }
    } catch (InterruptedException | ExecutionException e) {
      throw new WritException(ConformError.SCENARIO, "a race broke: " + e.getMessage(), e);
    }
    var counts = JsonValue.object();
    outcomes.forEach(counts::put);
    return JsonValue.object()
        .put("outcomes", counts.build())
        .put("receipts", receipts.size())
        .build();
  }

  private static Ended submit(Kernel kernel, byte[] request) {
    try {
      Answer answer = kernel.submit(request, List.of());
      return answer
          .served()
          .map(s -> new Ended(s.receipt().status().text(), s.id().toString()))
          .orElseGet(() ->
              new Ended(
                  answer.decision().verdict()
                      + answer.decision().code().map(c -> " " + c).orElse(""),
                  ""));
    } catch (WritException e) {
      return new Ended(e.code().code(), "");
    }
  }
}
