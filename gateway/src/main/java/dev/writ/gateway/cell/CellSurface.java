package dev.writ.gateway.cell;

import dev.writ.gateway.http.Route;
import dev.writ.gateway.http.Surface;
import dev.writ.gateway.http.message.HttpAnswer;
import java.util.List;

/** Shows to callers who owns the cells of the installation. */
public final class CellSurface implements Surface {
  private final CellBoard board;

  public CellSurface(CellBoard board) {
    this.board = board;
  }

  @Override
  public String name() {
    return "cells";
  }

  @Override
  public List<Route> routes() {
    return List.of(
        Route.get("/v1/cells", Route.Access.CALLER, _ -> HttpAnswer.json(200, board.toJson())));
  }
}
