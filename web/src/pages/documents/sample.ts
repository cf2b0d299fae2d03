/** Three short texts of our own about people who do not exist, so that the first question has an answer. */
export const SAMPLE: Record<string, string> = {
  "harbour-office.md": `# The Harbour Office

Ada Marsh leads the Harbour Office in Port Elm since 1921. The Harbour Office keeps the lighthouse and the ferry.
Ben Holt works for the Harbour Office as the keeper of the lighthouse.
`,
  "lighthouse.md": `# The lighthouse of Port Elm

The lighthouse of Port Elm was built by Clara Voss in 1898. Ben Holt has kept its light since the storm of 1919.
Every spring Ada Marsh and Ben Holt clean the great lens together.
`,
  "ferry.md": `# The ferry

The ferry Heron crosses from Port Elm to Grey Island twice a day. Its captain is Dora Lind, a sister of Ben Holt.
Ada Marsh bought the Heron from Voss Shipyard in 1924.
`,
};

/** Questions that they answer: the second one only by going from the sister in one text to the office in another. */
export const SAMPLE_QUESTIONS = ["Who built the lighthouse that Ben Holt keeps?", "Where does the brother of Dora Lind work?", "When was the Heron bought?"];
