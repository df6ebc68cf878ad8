// The newest refused postbacks of all advertisers.

import { LinkButton } from "../../../shared/components/button";
import { Heading } from "../../../shared/components/heading";
import { advertisers, refused as text } from "../../messages/advertisers";
import { ADVERTISERS_PATH } from "../../router";
import { useAdvertisers } from "../use-advertisers";
import { Postbacks } from "./postbacks";
import { usePostbacks } from "./use-postbacks";

export function RefusedPostbacks() {
  const postbacks = usePostbacks(null);
  const { nameOf } = useAdvertisers();
  return (
    <>
      <Heading title={text.title} within={[advertisers.title]}>
        <LinkButton href={ADVERTISERS_PATH}>{advertisers.toList}</LinkButton>
      </Heading>
      <Postbacks list={postbacks} nameOf={nameOf} />
    </>
  );
}
