package dev.writ.executor;

import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.executor.driver.Driver;
import dev.writ.executor.driver.RunWorkspaces;
import dev.writ.executor.stage.SignAgain;
import dev.writ.executor.stage.Tools;
import dev.writ.ledger.Ledger;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.function.LongSupplier;

/**
 * The parts of a kernel. There are no defaults: a part that is not given does not exist.
 *
 * @param ledger open for writing; the kernel does not close it
 * @param guardianKey signs decisions and intents
 * @param executorKey signs receipts and refusals
 * @param workspaces {@link RunWorkspaces#NONE} where there are none
 * @param region where it stands, which its receipts say
 * @param again how often, and after which wait, a dispatched effect's receipt is signed that could
 *     not be
 * @param clock and {@code random} are the only sources of time and of run seeds
 * @param summarizedEvery after how many requests that are over the accounts are summarized, {@link
 *     #SUMMARIZED_EVERY} but in tests
 * @param elapsed monotonic time in nanoseconds, such as {@link System#nanoTime}: it tells an idle
 *     installation from a clock that leapt
 */
public record KernelConfig(
    Ledger ledger,
    SigningKey guardianKey,
    SigningKey executorKey,
    Tools.Registry registry,
    List<Driver> drivers,
    RunWorkspaces workspaces,
    Optional<String> region,
    int summarizedEvery,
    SignAgain again,
    InstantSource clock,
    LongSupplier elapsed,
    SecureRandom random) {
  /** A start reads no more rows of accounts than a few times as many. */
  public static final int SUMMARIZED_EVERY = 2048;
}
