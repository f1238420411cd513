package dev.writ.ledger.storage;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** Shows who owns a log. */
public interface LeaseWatch extends AutoCloseable {

  /**
   * Who owns it.
   *
   * @param cell the number of the log in its database
   * @param epoch of its last opening by a writer
   * @param owner who took it last
   * @param address of that owner; empty where it had no lease
   * @param isHeld whether the lease runs
   * @param left how long, by the database's clock; zero where it does not
   * @param observed how much of the system run the owner has, as it says ({@link #observed}); zero
   *     before
   * @param size events in the log
   */
  record Ownership(
      int cell,
      long epoch,
      String owner,
      String address,
      boolean isHeld,
      Duration left,
      long observed,
      long size) {}

  /**
   * Asks the database.
   *
   * @throws dev.writ.canonicalize.WritException where it does not answer; the next call tries again
   */
  Ownership ask();

  /**
   * The same for so many logs from this one on, in the order of their numbers; of one that is not
   * there nothing is said.
   *
   * @throws dev.writ.canonicalize.WritException where the database does not answer
   */
  List<Ownership> askAll(int cells);

  /**
   * A server that says that it lives.
   *
   * @param region where it stands, if it says so
   */
  record LivingGateway(String address, Optional<String> region) {}

  /**
   * Says that this server lives, for so long by the database's clock.
   *
   * @return all that live
   * @throws dev.writ.canonicalize.WritException where the database does not answer
   */
  List<LivingGateway> present(LivingGateway self, Duration length);

  /**
   * All servers that live.
   *
   * @throws dev.writ.canonicalize.WritException where the database does not answer
   */
  List<LivingGateway> living();

  /**
   * Says that it ends.
   *
   * @throws dev.writ.canonicalize.WritException where the database does not answer
   */
  void leaves(String address);

  /**
   * Says as the owner of a log how much of the system run it has durably. Where another owns the
   * log by now nothing is said.
   *
   * @param statements how many
   * @throws dev.writ.canonicalize.WritException where the database does not answer
   */
  void observed(int cell, long epoch, long statements);

  @Override
  void close();
}
