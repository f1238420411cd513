/** Records as nodes of a graph in Neo4j. */
package dev.writ.sinks.neo4j;
