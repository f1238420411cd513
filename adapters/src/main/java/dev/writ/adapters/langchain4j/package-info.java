/** Tools of Writ for LangChain4j. */
package dev.writ.adapters.langchain4j;
