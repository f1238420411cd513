package dev.writ.cli.campaign;

import dev.writ.canonicalize.Digest;
import dev.writ.ledger.seal.ContentOwner;
import dev.writ.ledger.seal.KeySecrets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** What was made, and what was ordered to be erased, as far as it was acknowledged. */
final class ErasureRecord {
  /** A content of an effect that has a receipt: its output, or a file that it took. */
  record Made(String subject, String run, Unanswered request, Digest content, byte[] bytes) {}

  /**
   * An order of erasure that was sent.
   *
   * @param covers what had been acknowledged by then
   * @param mayCover requests that had no answer then: they may have a receipt, before the order or
   *     after it
   * @param secrets of the keys that it destroys, with names
   */
  record Order(
      Digest id, List<Made> covers, List<Unanswered> mayCover, TreeMap<String, byte[]> secrets) {
    Order named(Digest other) {
      return new Order(other, covers, mayCover, secrets);
    }
  }

  /**
   * A request without an answer.
   *
   * @param run that it is of
   * @param output that it has to give
   * @param input that it takes
   */
  record Unanswered(String run, byte[] request, byte[] output, Optional<byte[]> input) {
    List<byte[]> contents() {
      return input.map(file -> List.of(output, file)).orElseGet(() -> List.of(output));
    }
  }

  private final List<Made> made = new ArrayList<>();
  private final List<Order> orders = new ArrayList<>();
  private final Set<Digest> acknowledged = new HashSet<>();
  private final TreeMap<String, List<Unanswered>> unanswered = new TreeMap<>();
  private final Set<Digest> inTheClear = new HashSet<>();
  private final TreeMap<String, TreeSet<String>> runs = new TreeMap<>();

  /** Before it is sent for the first time. */
  synchronized void asks(String subject, Unanswered request, ErasureHome.Keeping keeping) {
    unanswered.computeIfAbsent(subject, _ -> new ArrayList<>()).add(request);
    runs.computeIfAbsent(subject, _ -> new TreeSet<>()).add(request.run());
    sends(request, keeping);
  }

  /** Before it is sent, also once more. */
  synchronized void sends(Unanswered request, ErasureHome.Keeping keeping) {
    if (keeping == ErasureHome.Keeping.CLEAR) {
      request.contents().forEach(bytes -> inTheClear.add(Digest.sha256(bytes)));
    }
  }

  synchronized void made(String subject, String run, Unanswered request) {
    unanswered.get(subject).remove(request);
    request
        .contents()
        .forEach(bytes -> made.add(new Made(subject, run, request, Digest.sha256(bytes), bytes)));
  }

  synchronized void orders(Order order) {
    orders.add(order);
  }

  synchronized void acknowledge(Digest order) {
    acknowledged.add(order);
  }

  synchronized boolean isAcknowledged(Digest order) {
    return acknowledged.contains(order);
  }

  synchronized int acknowledgedOrders() {
    return acknowledged.size();
  }

  synchronized List<Made> made() {
    return List.copyOf(made);
  }

  synchronized List<Order> orders() {
    return List.copyOf(orders);
  }

  synchronized List<Unanswered> unanswered(String subject) {
    return List.copyOf(unanswered.getOrDefault(subject, List.of()));
  }

  /** Whether a request without an answer has this content, so that it may be there or not. */
  synchronized boolean mayBeThere(Digest content) {
    return unanswered.values().stream()
        .flatMap(List::stream)
        .flatMap(request -> request.contents().stream())
        .anyMatch(bytes -> Digest.sha256(bytes).equals(content));
  }

  /** Whether it was ever asked for while contents were not sealed. */
  synchronized boolean wasInTheClear(Digest content) {
    return inTheClear.contains(content);
  }

  synchronized List<String> runs(String subject) {
    return List.copyOf(runs.getOrDefault(subject, new TreeSet<>()));
  }

  /** An order about a subject or a run, before it is sent. */
  Order order(Digest id, Optional<String> subject, Optional<String> run, Path ledger) {
    return new Order(id, of(subject, run), unanswered(subject, run), secrets(ledger, subject, run));
  }

  /** Of the keys that an order would destroy now. */
  private TreeMap<String, byte[]> secrets(
      Path ledger, Optional<String> subject, Optional<String> run) {
    List<ContentOwner> owners = new ArrayList<>();
    subject.ifPresent(name -> owners.add(ContentOwner.subject(ErasureHome.TENANT, name)));
    run.map(List::of)
        .orElseGet(() -> runs(subject.orElseThrow()))
        .forEach(name -> owners.add(ContentOwner.run(ErasureHome.TENANT, name)));
    TreeMap<String, byte[]> secrets = new TreeMap<>();
    owners.forEach(owner ->
        KeySecrets.of(ledger, owner).ifPresent(secret -> secrets.put(owner.toString(), secret)));
    return secrets;
  }

  synchronized List<Made> of(Optional<String> subject, Optional<String> run) {
    return made.stream()
        .filter(content -> subject.filter(name -> !name.equals(content.subject())).isEmpty())
        .filter(content -> run.filter(name -> !name.equals(content.run())).isEmpty())
        .toList();
  }

  private synchronized List<Unanswered> unanswered(Optional<String> subject, Optional<String> run) {
    return unanswered.entrySet().stream()
        .filter(of -> subject.filter(name -> !name.equals(of.getKey())).isEmpty())
        .flatMap(of -> of.getValue().stream())
        .filter(request -> run.filter(name -> !name.equals(request.run())).isEmpty())
        .toList();
  }
}
