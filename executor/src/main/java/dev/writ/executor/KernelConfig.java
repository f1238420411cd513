package dev.writ.executor;

import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.executor.driver.Driver;
import dev.writ.executor.driver.RunWorkspaces;
import dev.writ.executor.stage.Tools;
import dev.writ.ledger.Ledger;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * What a kernel is made of. There is no optional part: what is not given is not there.
 *
 * @param ledger open for writing; the kernel does not close it
 * @param guardianKey signs decisions and intents
 * @param executorKey signs receipts and refusals
 * @param workspaces {@link RunWorkspaces#NONE} where there are none
 * @param clock and {@code random} are the only sources of time and of run seeds
 * @param elapsed nanoseconds that really passed, however the clock is set, as {@link
 *     System#nanoTime}: what tells an idle installation from a clock that leapt
 */
public record KernelConfig(
    Ledger ledger,
    SigningKey guardianKey,
    SigningKey executorKey,
    Tools.Registry registry,
    List<Driver> drivers,
    RunWorkspaces workspaces,
    InstantSource clock,
    LongSupplier elapsed,
    SecureRandom random) {}
