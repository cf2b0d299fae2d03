import { type RefObject, useEffect } from "react";

/** Pixels from the end of the page within which somebody is taken to read its end. */
const NEAR = 60;

const toEnd = () => window.scrollTo({ top: document.documentElement.scrollHeight });

/** Keeps the end of the page in sight while `content` grows, unless somebody scrolls away from it. */
export function useFollowing(content: RefObject<HTMLElement | null>, isGrowing: boolean): void {
  useEffect(() => {
    const element = content.current;
    if (!isGrowing || !element) return undefined;
    let isAtEnd = true;
    let height = document.documentElement.scrollHeight;
    const follow = () => {
      height = document.documentElement.scrollHeight;
      if (isAtEnd) toEnd();
    };
    const onScroll = () => {
      const page = document.documentElement;
      // What has grown and was not followed yet says nothing of where somebody wants to be.
      if (page.scrollHeight === height) isAtEnd = page.scrollHeight - page.clientHeight - page.scrollTop < NEAR;
    };
    toEnd();
    const observer = new ResizeObserver(follow);
    observer.observe(element);
    window.addEventListener("scroll", onScroll, { passive: true });
    return () => {
      observer.disconnect();
      window.removeEventListener("scroll", onScroll);
      // Sources and buttons come with the end of an answer.
      if (element.isConnected && isAtEnd) toEnd();
    };
  }, [content, isGrowing]);
}
