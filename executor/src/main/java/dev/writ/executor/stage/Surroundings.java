package dev.writ.executor.stage;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.dsse.DocumentSigner;
import dev.writ.executor.driver.Invocation;
import dev.writ.executor.driver.RunWorkspaces;
import dev.writ.guardian.Accounting;
import dev.writ.guardian.Admitted;
import dev.writ.guardian.document.Audience;
import dev.writ.guardian.document.Input;
import dev.writ.guardian.document.Request;
import dev.writ.ledger.RunJournal;
import java.security.SecureRandom;
import java.util.List;
import java.util.Optional;
import java.util.function.BiPredicate;
import java.util.function.Supplier;

/**
 * All inputs of judging and of the eight stages that they do not compute. A kernel gives real ones,
 * a replay recorded ones. Time, randomness, keys and the effects of other runs come in only here.
 *
 * @param random the source of seeds for new runs
 * @param accounts balances, rates and nonces
 * @param guardian signs decisions and intents
 * @param executor signs receipts, refusals and closings
 * @param audience the ledger that intents are for
 * @param prohibited tells by name and version whether a tool must not run, at this moment
 * @param readable tells whether a request may name an input
 * @param inputs opens an input
 * @param contents stores output
 * @param workspaces measures and wipes them
 * @param region where the kernel stands that writes a receipt
 * @param again how often a receipt is signed that could not be
 * @param stages observes the stages
 */
public record Surroundings(
    RunJournal journal,
    KernelTime time,
    SecureRandom random,
    Accounting accounts,
    DocumentSigner guardian,
    DocumentSigner executor,
    Tools tools,
    Audience audience,
    BiPredicate<String, String> prohibited,
    Readable readable,
    Consumable consumable,
    Invocation.InputContent inputs,
    StoreStage.ContentStore contents,
    RunWorkspaces workspaces,
    Supplier<Optional<String>> region,
    SignAgain again,
    StageObserver stages) {

  /** Without anybody who watches, and where each receipt is signed once. */
  public Surroundings(
      RunJournal journal,
      KernelTime time,
      SecureRandom random,
      Accounting accounts,
      DocumentSigner guardian,
      DocumentSigner executor,
      Tools tools,
      Audience audience,
      BiPredicate<String, String> prohibited,
      Readable readable,
      Consumable consumable,
      Invocation.InputContent inputs,
      StoreStage.ContentStore contents,
      RunWorkspaces workspaces,
      Supplier<Optional<String>> region) {
    this(
        journal,
        time,
        random,
        accounts,
        guardian,
        executor,
        tools,
        audience,
        prohibited,
        readable,
        consumable,
        inputs,
        contents,
        workspaces,
        region,
        SignAgain.never(),
        StageObserver.NONE);
  }

  /** Says whether a request may name an input. */
  @FunctionalInterface
  public interface Readable {
    /**
     * @param charged the request's subject, and those on whose behalf it is made
     */
    boolean test(Request request, List<String> charged, Input input);
  }

  /** Says whether a request may consume a receipt. */
  @FunctionalInterface
  public interface Consumable {
    /**
     * @throws dev.writ.canonicalize.WritException {@code EXE-307}
     */
    void require(Admitted admitted, Digest receipt);
  }
}
