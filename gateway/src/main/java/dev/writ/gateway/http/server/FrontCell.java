package dev.writ.gateway.http.server;

import dev.writ.gateway.http.Client;
import dev.writ.gateway.http.FormerCellList;
import dev.writ.gateway.http.Listener;
import dev.writ.gateway.http.TenantCells;
import dev.writ.gateway.http.message.Headers;
import java.time.Instant;
import java.util.Optional;

/**
 * One cell of the installation as a front has it: its requests are answered here while a {@link
 * GatewayServer} is started on it; else they are forwarded to the owner.
 */
public final class FrontCell implements TenantCells {
  private final Front front;
  private final int number;
  private final int shown;
  private volatile Optional<Listener.Taker> here = Optional.empty();
  private volatile Optional<Front.Peer> owner = Optional.empty();

  FrontCell(Front front, int number, int shown) {
    this.front = front;
    this.shown = shown;
    this.number = number;
  }

  /** Counted from 0. */
  public int number() {
    return number;
  }

  /** The owner, unless nobody is, or this gateway itself. */
  public void owner(Optional<String> address) {
    owner = address.filter(a -> !a.equals(front.address())).map(Front.Peer::of);
  }

  /** From now on nothing is answered here; what has begun goes on. */
  public void standBy() {
    here = Optional.empty();
  }

  /** New requests go there from now on. */
  void answeredBy(Listener.Taker taker) {
    here = Optional.of(taker);
  }

  /** What answers here; empty while another gateway owns the cell, or nobody does. */
  Optional<Listener.Taker> here() {
    return here;
  }

  /** Where requests go: to the owner elsewhere. */
  Optional<Front.Peer> owner() {
    return owner;
  }

  @Override
  public FormerCellList former(String tenant) {
    return front.choice().former(tenant, number);
  }

  @Override
  public boolean isByTenant(
      String method, String path, Headers headers, Client client, Instant now) {
    return front.choice().isByTenant(method, path, headers, client, now);
  }

  /** Of which it is one cell. */
  public Front front() {
    return front;
  }

  @Override
  public String toString() {
    return "cell " + shown;
  }
}
