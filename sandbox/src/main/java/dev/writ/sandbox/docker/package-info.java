/** Containers by the HTTP API that Docker and Podman share. */
package dev.writ.sandbox.docker;
