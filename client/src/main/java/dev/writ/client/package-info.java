/** Clients of a server: for agents and for owners. */
package dev.writ.client;
