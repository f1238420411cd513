package dev.writ.surfaces.execute;

/** The states of a request, in seed 000's words (spec/surface-execute.md, States). */
enum RequestState {
  REQUEST_RECEIVED,
  VALIDATION,
  REJECTED,
  SANDBOX_CREATED,
  EXECUTION,
  SANDBOX_DESTROYED,
  RESPONSE
}
