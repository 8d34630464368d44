import type { Repository } from "../git/repository.ts";
import { packLoose } from "../isolation/pack-loose.ts";
import type { Agent } from "./agent.ts";

/** `agent`, with the objects of all commits so far in packs whenever its turn begins: there a sandbox protects them. */
export function packingAgent(agent: Agent, repository: Repository): Agent {
  return {
    async turn(message) {
      await packLoose(repository);
      return agent.turn(message);
    },
  };
}
